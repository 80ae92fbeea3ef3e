-- Of many documents the title is kept: as a slice, which retains the document, or as a copy.
module Main (main) where

import Control.Exception (evaluate)
import Control.Monad (forM, replicateM_)
import qualified Data.Text as Text
import System.Environment (getArgs)
import System.Mem (performMajorGC)

main :: IO ()
main = do
  [how] <- getArgs
  titles <- forM [1 .. 2000 :: Int] $ \number -> do
    document <- evaluate (Text.replicate 1000 (Text.pack ("title " ++ show number ++ "\n")))
    let title = Text.takeWhile (/= '\n') document
    evaluate (if how == "slices" then title else Text.copy title)
  replicateM_ 5 performMajorGC
  print (sum (map Text.length titles))
